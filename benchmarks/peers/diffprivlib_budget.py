"""What a grid search spends of a budget of diffprivlib's, which the site's first page tells.

    python benchmarks/peers/diffprivlib_budget.py

prints the budget and how many fits it has counted, after sixteen at epsilon 1.
"""

from diffprivlib import BudgetAccountant
from diffprivlib.models import LogisticRegression
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV

X, y = load_breast_cancer(return_X_y=True)
budget = BudgetAccountant(epsilon=1.5, delta=0.0)
model = LogisticRegression(epsilon=1.0, data_norm=3000.0, accountant=budget)
GridSearchCV(model, {"C": [0.1, 1.0, 10.0]}, cv=5).fit(X[:, :3], y)
print(budget, len(budget))
