/// The framework over a socket.
func frameworkLines() -> [Line] { [] }
