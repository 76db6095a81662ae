"""WALR: label-private logistic regression from one noisy sum."""
