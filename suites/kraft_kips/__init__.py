"""KIPs after KIP-631 about identity and fencing: 853 and 1186 (voters), 1066 (cordons), 1242 (clients)."""
