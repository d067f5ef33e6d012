extension CloudService {
    /// The names of all endpoints, such as `records/modify`. A path ends with one of them.
    public static let operationNames: Set<String> = Set(Endpoint.allCases.map(\.rawValue))
}
