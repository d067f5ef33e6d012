internal import CloudWire

/// Walks another exchange, and before that asks who the user is, if it names the user and nobody knows them yet.
///
/// A credential from the environment says nothing about whose it is; one that somebody signed in for does.
struct UserResolvingExchange<Base: OperationExchange>: OperationExchange {
    private var user: CurrentUserExchange?
    private var base: Base
    private let make: @Sendable (RequestAddress) -> Base
    private let address: RequestAddress

    /// - Parameters:
    ///   - namesUser: whether what is sent names the user; asked where nobody knows them.
    ///   - make: makes the other exchange; gets the address with the user's name.
    init(
        namesUser: @autoclosure () -> Bool, address: RequestAddress,
        _ make: @escaping @Sendable (RequestAddress) -> Base
    ) {
        self.address = address
        self.make = make
        base = make(address)
        if address.userRecordName == nil, namesUser() { user = CurrentUserExchange(address: address.ofUsers) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Base.Event, Base.Output> {
        switch try user?.nextStep() {
        case .send(let request): return .send(request)
        case .finished(let recordID):
            var address = address
            address.askedUserRecordName = recordID.recordName
            (user, base) = (nil, make(address))
        case .transfer, .report, nil: break
        }
        return try base.nextStep()
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Base.Event] {
        guard user == nil else {
            _ = user?.receive(reply)
            return []
        }
        return base.receive(reply)
    }
}
