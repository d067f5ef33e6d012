internal import CloudWire

/// Runs another exchange. If that refers to the current user, and the user's name isn't known yet, the name is fetched
/// first.
///
/// A credential from the environment doesn't name its user; one that a sign-in has stored does.
struct UserResolvingExchange<Base: OperationExchange>: OperationExchange {
    private var user: CurrentUserExchange?
    private var base: Base
    private let make: @Sendable (RequestAddress) -> Base
    private let address: RequestAddress

    /// - Parameters:
    ///   - namesUser: true if a request refers to the current user. Evaluated only if the name isn't known.
    ///   - make: makes the other exchange, with an address that has the user's name.
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
