/// A setting for all groups, with exceptions for single groups.
struct ViewGroupSetting<Group: Hashable & Sendable, Value: Sendable>: Sendable {
    private var common: Value
    private var exceptions: [Group: Value] = [:]

    init(_ common: Value) { self.common = common }

    subscript(group: Group) -> Value {
        get { exceptions[group] ?? common }
        set { exceptions[group] = newValue }
    }

    /// Returns a setting with transformed values, for all groups and for each exception.
    func map<Other>(_ transform: (Value) -> Other) -> ViewGroupSetting<Group, Other> {
        var other = ViewGroupSetting<Group, Other>(transform(common))
        other.exceptions = exceptions.mapValues(transform)
        return other
    }
}
