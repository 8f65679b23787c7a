"""What a graph and a history show as a whole: hubs, communities, orphans, anomalies, habits, what is near to what."""
