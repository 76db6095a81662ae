"""The learnt ball: a centre, a scale for each column and a radius, bought with a share."""
