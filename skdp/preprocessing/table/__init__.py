"""Raw tables, learnt privately: where the numbers of columns lie, and which words they hold."""
