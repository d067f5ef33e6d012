/// TLS of one connection.
final class TLSSession {}
