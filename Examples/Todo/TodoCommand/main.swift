print("todo: no commands yet")
