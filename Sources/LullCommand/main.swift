print("lull")
