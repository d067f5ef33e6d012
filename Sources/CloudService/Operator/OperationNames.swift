extension CloudService {
    /// The names of all endpoints, as `records/modify`: what a path may end with.
    public static let operationNames: Set<String> = Set(Endpoint.allCases.map(\.rawValue))
}
