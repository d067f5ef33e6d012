import CloudWire

extension CloudService {
    func usersCaller(_ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        let hasName = user.givenName != nil || user.familyName != nil
        let name = UsersCallerResponse.NameComponents(givenName: user.givenName, familyName: user.familyName)
        return .answer(
            .message(
                UsersCallerResponse(userRecordName: user.userRecordName, nameComponents: hasName ? name : nil)
            ))
    }
}
