"""The course project: value networks by generations, supervised policies, REINFORCE, and the players made of them."""
