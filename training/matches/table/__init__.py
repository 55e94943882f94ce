"""Published tables of results, played again with networks of ours and shown beside the published figures."""
