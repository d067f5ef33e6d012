import CloudStore
import CloudWire
import Crypto
import System

/// A signed request with a notification to a webhook.
package struct WebhookRequest: Hashable, Sendable {
    /// Number of its delivery.
    package let number: Int64
    /// The webhook's name.
    package let webhook: String
    /// The destination's address.
    package let url: String
    /// The headers, in order.
    package let headers: [Header]
    /// The notification as JSON.
    package let body: [UInt8]

    /// A header.
    package struct Header: Hashable, Sendable {
        /// Its name.
        package let name: String
        /// Its value.
        package let value: String
    }

    /// Signs `body` for a webhook.
    ///
    /// The signature covers the time too, so that a recorded request can't be replayed later.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory.
    package init(
        number: Int64, to webhook: WebhookRow, notificationID: String, container: String, environment: String,
        body: [UInt8], nowMilliseconds: Int64
    ) throws {
        self.number = number
        self.webhook = webhook.name
        url = webhook.url
        self.body = body
        let seconds = String(nowMilliseconds / 1_000)
        let code = try HMACSHA256.code(of: Array("\(seconds).".utf8) + body, key: webhook.secret)
        headers = [
            Header(name: "Content-Type", value: "application/json"),
            Header(name: "X-Yap-Webhook", value: webhook.name),
            Header(name: "X-Yap-Container", value: container),
            Header(name: "X-Yap-Environment", value: environment),
            Header(name: "X-Yap-Notification", value: notificationID),
            Header(name: "X-Yap-Timestamp", value: seconds),
            Header(name: "X-Yap-Signature", value: "v1=\(Hex.text(code))"),
        ]
    }

    /// Makes a request with a sample notification, to test a webhook.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory.
    package init(
        test webhook: WebhookRow, container: String, environment: String, nowMilliseconds: Int64,
        notificationID: String
    ) throws {
        let payload = PushPayload(
            ck: PushCloudPart(containerIdentifier: container, notificationID: notificationID))
        try self.init(
            number: 0, to: webhook, notificationID: notificationID, container: container,
            environment: environment, body: try payload.json(), nowMilliseconds: nowMilliseconds)
    }
}

/// The webhook requests to send now.
package struct WebhookBatch: Sendable {
    /// The requests that are due, a few for each webhook.
    package var requests: [WebhookRequest] = []
    /// The time of the next check, in milliseconds since 1970, or nil to wait for the next delivery.
    package var nextMilliseconds: Int64?
}

/// The result of a webhook request.
package struct WebhookResult: Hashable, Sendable {
    /// Number of its delivery.
    package let number: Int64
    /// True if the webhook accepted it.
    package let isDelivered: Bool
    /// A short summary of the response or of the failure, without the address.
    package let summary: String

    /// Makes a result.
    package init(number: Int64, isDelivered: Bool, summary: String) {
        self.number = number
        self.isDelivered = isDelivered
        self.summary = summary
    }
}
