import HTTPClient

extension HTTPClient {
    /// Sends a body of JSON, and returns the answer.
    func post(
        _ url: String, _ body: [UInt8], headers: [(name: String, value: String)] = []
    ) async throws -> HTTPClientResponse {
        let request = HTTPClientRequest(
            method: "POST", url: url, headers: [("Content-Type", "application/json")] + headers, body: body)
        return try await withCheckedThrowingContinuation { continuation in
            _ = send(request) { continuation.resume(with: $0) }
        }
    }
}
