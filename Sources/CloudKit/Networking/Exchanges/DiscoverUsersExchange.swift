internal import CloudWire

/// Finds users, in one request.
struct DiscoverUsersExchange: OperationExchange {
    /// A discovered user, and the lookup that found the user.
    typealias Event = (CKUserIdentity, CKUserIdentityLookupInfo)

    private let address: RequestAddress
    private let message: UsersDiscoverRequest
    /// The lookups, by the form in which a response repeats them.
    private let asked: [UserLookupInfo: CKUserIdentityLookupInfo]
    private var end: Result<Void, CKError>?

    init(_ infos: [CKUserIdentityLookupInfo], address: RequestAddress) {
        self.address = address
        let wire = infos.map { info in
            var wire = info.wire
            wire.userRecordName = info.userRecordID.map { address.recordName($0) }
            return wire
        }
        message = UsersDiscoverRequest(lookupInfos: wire)
        asked = Dictionary(zip(wire, infos)) { first, _ in first }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let end { return .finished(try end.get()) }
        return .send(try address.request("users/discover", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(UsersDiscoverResponse.self, from: reply)
            end = .success(())
            return response.users.compactMap { user in
                user.lookupInfo.map { wire in
                    let info = asked[wire] ?? CKUserIdentityLookupInfo(wire)
                    return (CKUserIdentity(user, lookupInfo: info), info)
                }
            }
        } catch {
            end = .failure(error)
            return []
        }
    }
}
