/// A record by itself, for tools that print what the service keeps.
extension WireRecord: JSONMessage {}
