internal import CloudWire

/// Fetches the ID of the current user's record.
struct CurrentUserExchange: OperationExchange {
    typealias Event = Never

    private let address: RequestAddress
    private var end: Result<CKRecordID, CKError>?

    init(address: RequestAddress) {
        self.address = address
        if !address.isSignedIn {
            end = .failure(CKError(.notAuthenticated, "No user is signed in."))
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Never, CKRecordID> {
        if let end { return .finished(try end.get()) }
        return .send(address.request("users/caller", method: "GET"))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Never] {
        end = Result { () throws(CKError) in
            let response = try ResponseDecoder.decode(UsersCallerResponse.self, from: reply)
            return CKRecordID(recordName: response.userRecordName)
        }
        return []
    }
}
