import CloudWire

/// The endpoints about the calling user, and about discoverable users. Only in the public database.
struct UsersEndpoints: Sendable {
    let accounts: any ServiceAccounts
    let limits: ServiceLimits

    func caller(_ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        return .answer(
            .message(
                UsersCallerResponse(userRecordName: user.userRecordName, nameComponents: user.nameComponents))
        )
    }

    /// The older form of `users/caller`.
    func current(_ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        return .answer(.message(user.wireUser))
    }

    /// Looks up the users that the request names by address or record name. A GET returns all listed users.
    func discover(_ request: EndpointRequest) throws -> ServiceWork {
        guard let infos = try UsersDiscoverRequest(request: request.body).lookupInfos else {
            return .answer(
                .message(UsersDiscoverResponse(users: try listed(request).map { $0.identity(nil) })))
        }
        try limits.check(count: infos.count, request.caller)
        let users = try infos.compactMap { info -> UserIdentity? in
            let key =
                info.emailAddress.map { ServiceUserKey.emailAddress($0) }
                ?? info.userRecordName.map { .userRecordName($0) }
            guard key != nil || info.phoneNumber != nil else {
                throw ServiceError.badRequest(
                    "a lookupInfo must have emailAddress, phoneNumber or userRecordName")
            }
            return try key.flatMap { try person($0, request) }?.identity(info)
        }
        return .answer(.message(UsersDiscoverResponse(users: users)))
    }

    /// The older forms of `users/discover`. Only a caller that sent the address gets it back.
    func lookup(_ request: EndpointRequest, byAddress: Bool) throws -> ServiceWork {
        let asked = try UsersLookup(request: request.body).users
        try limits.check(count: asked.count, request.caller)
        let users = try asked.compactMap { user -> WireUser? in
            guard let value = byAddress ? user.emailAddress : user.userRecordName else {
                throw ServiceError.badRequest(
                    "missing required field '\(byAddress ? "emailAddress" : "userRecordName")'")
            }
            let key: ServiceUserKey = byAddress ? .emailAddress(value) : .userRecordName(value)
            var found = try person(key, request)?.wireUser
            if byAddress { found?.emailAddress = value }
            return found
        }
        return .answer(.message(UsersLookup(users: users)))
    }

    func lookupContacts(_ request: EndpointRequest) throws -> ServiceWork {
        .answer(.message(UsersLookup(users: try listed(request).map(\.wireUser))))
    }

    func discoverability(_ request: EndpointRequest) throws -> ServiceWork {
        guard let token = request.wire.queryItem(WireHeader.webAuthTokenItem) else {
            throw ServiceError.authenticationRequired
        }
        let container = CloudService.Container(request.route)
        let asked = try UsersDiscoverability(request: request.body)
        guard let people = accounts as? any ServicePeople else {
            guard asked.discoverable ?? false else {
                return .answer(.message(UsersDiscoverability(discoverable: false, listed: false)))
            }
            throw ServiceError.badRequest("the accounts of this service can't be found by others")
        }
        if let isDiscoverable = asked.discoverable {
            let choice = ServiceDiscoverability(
                isDiscoverable: isDiscoverable, isListed: isDiscoverable && asked.listed ?? false)
            try people.setDiscoverability(choice, webAuthToken: token, container: container)
        }
        let choice = try people.discoverability(webAuthToken: token, container: container)
        return .answer(
            .message(UsersDiscoverability(discoverable: choice.isDiscoverable, listed: choice.isListed)))
    }

    /// Returns the user, if they are discoverable. Users always find themselves.
    private func person(_ key: ServiceUserKey, _ request: EndpointRequest) throws -> ServiceUser? {
        if let own = request.caller.user, key == .userRecordName(own.userRecordName) { return own }
        return try (accounts as? any ServicePeople)?.person(
            key, container: CloudService.Container(request.route))
    }

    private func listed(_ request: EndpointRequest) throws -> [ServiceUser] {
        try (accounts as? any ServicePeople)?
            .listedPeople(
                container: CloudService.Container(request.route),
                countMax: limits.itemsMax(for: request.caller))
            ?? []
    }
}

extension ServiceUser {
    fileprivate var nameComponents: UsersCallerResponse.NameComponents? {
        guard givenName != nil || familyName != nil else { return nil }
        return UsersCallerResponse.NameComponents(givenName: givenName, familyName: familyName)
    }

    fileprivate func identity(_ info: UserLookupInfo?) -> UserIdentity {
        UserIdentity(
            userRecordName: userRecordName, nameComponents: nameComponents,
            lookupInfo: info.map {
                UserLookupInfo(
                    emailAddress: $0.emailAddress, phoneNumber: $0.phoneNumber,
                    userRecordName: $0.userRecordName)
            })
    }

    fileprivate var wireUser: WireUser {
        WireUser(userRecordName: userRecordName, firstName: givenName, lastName: familyName)
    }
}
