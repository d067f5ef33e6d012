import CloudService
import Dispatch
import HTTPClient
import System

/// Sends one request to a webhook, and waits for the response.
enum WebhookProbe {
    /// Returns the HTTP status, or the error.
    ///
    /// - Throws: `Failure` if the client was lost.
    static func send(_ request: WebhookRequest) throws -> Result<Int, HTTPClientError> {
        let client = HTTPClient()
        defer { client.stop() }
        let done = DispatchSemaphore(value: 0)
        let answer = Lock<Result<HTTPClientResponse, HTTPClientError>?>(nil)
        let sent = HTTPClientRequest(
            method: "POST", url: request.url, headers: request.headers.map { ($0.name, $0.value) },
            body: request.body, connectTimeoutSeconds: 5, timeoutSeconds: 10, responseBytesMax: 64 << 10)
        client.send(sent) { result in
            answer.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = answer.withLock({ $0 }) else { throw Failure.failed("no request was sent") }
        return result.map(\.status)
    }
}
