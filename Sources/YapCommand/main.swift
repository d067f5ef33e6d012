print("yap: no commands yet")
