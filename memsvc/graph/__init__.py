"""The graph: nodes, edges and names with their history at two times, the world's and ours."""
