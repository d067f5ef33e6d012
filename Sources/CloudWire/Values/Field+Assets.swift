extension Field {
    /// Returns the field with each of its files replaced by the result of `change`, including files in a
    /// list.
    package func mappingAssets(_ change: (Asset) -> Asset) -> Field {
        func changed(_ value: FieldValue) -> FieldValue {
            if case .asset(let asset) = value { .asset(change(asset)) } else { value }
        }
        var field = self
        if case .list(let type, let elements) = value {
            field.value = .list(type, elements.map(changed))
        } else {
            field.value = value.map(changed)
        }
        return field
    }
}
