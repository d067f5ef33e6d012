print("todo demo")
