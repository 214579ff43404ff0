"""Parts that more than one design of the control plane uses."""
