package import CloudWire

/// Carries one request to the cloud and its answer back.
package protocol Transport: Sendable {
    /// Sends `request` and calls `completion` once, on any thread: with the answer, whatever its status, or
    /// with the `CKError` that says what the network did.
    func send(
        _ request: WireRequest, completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void)
}
