internal import CloudWire

/// Sends one request, and ends with the result from its response.
struct SingleRequestExchange<Output: Sendable>: OperationExchange {
    typealias Event = Never

    private let request: Result<WireRequest, CKError>
    private let read: @Sendable (Result<WireResponse, CKError>) -> Result<Output, CKError>
    private var end: Result<Output, CKError>?

    /// Sends `message` to the database's `endpoint`.
    init<Body: JSONMessage>(
        _ endpoint: String, _ message: some JSONMessage, address: RequestAddress, answer: Body.Type,
        read: @escaping @Sendable (Body) throws(CKError) -> Output
    ) {
        request = Result { () throws(CKError) in try address.request(endpoint, message: message) }
        self.read = { reply in
            Result { () throws(CKError) in try read(try ResponseDecoder.decode(Body.self, from: reply)) }
        }
    }

    /// Sends a GET request without a message to `endpoint`.
    init<Body: JSONMessage>(
        getting endpoint: String, address: RequestAddress, answer: Body.Type,
        read: @escaping @Sendable (Body) throws(CKError) -> Output
    ) {
        request = .success(address.request(endpoint, method: "GET"))
        self.read = { reply in
            Result { () throws(CKError) in try read(try ResponseDecoder.decode(Body.self, from: reply)) }
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Never, Output> {
        if let end { return .finished(try end.get()) }
        return .send(try request.get())
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Never] {
        end = read(reply)
        return []
    }
}
