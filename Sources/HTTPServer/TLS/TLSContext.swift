/// What all TLS connections of a server share.
final class TLSContext: Sendable {
    init(_ options: HTTPServerTLSOptions) throws {
        throw HTTPServerError(code: .badCertificate, message: "TLS is not built in yet")
    }

    func session(_ descriptor: Int32) -> TLSSession? { nil }
}
