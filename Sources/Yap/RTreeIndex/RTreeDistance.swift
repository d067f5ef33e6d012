/// Distance of rows from a point.
struct RTreeDistance: Sendable {
    /// The point's coordinate in one dimension.
    struct Axis: Sendable {
        let dimension: RTreeDimension
        let value: Double
        let scale: Double
    }

    /// Covers the rounding of a distance and its square root.
    private static let rounding = 1 + 1e-9
    /// The squares of smaller numbers may be 0.
    private static let smallest = 0x1p-500

    let axes: [Axis]

    /// Returns the distance of a row from its exact values.
    func distance(_ values: [YapDatabaseColumnValue]) -> Double {
        axes.reduce(0) { sum, axis in
            guard let from = values[axis.dimension.from].rTreeNumber,
                let to = values[axis.dimension.to].rTreeNumber
            else { return sum }
            let difference = max(from - axis.value, axis.value - to, 0) * axis.scale
            return sum + difference * difference
        }.squareRoot()
    }

    /// Returns true if a row may be within a radius.
    func isWithin(_ radius: Double, _ values: [YapDatabaseColumnValue]) -> Bool {
        distance(values) <= radius * Self.rounding
    }

    /// Returns the SQL of the squared distance.
    func squared(_ sql: RTreeSQL, _ filter: inout SecondaryIndexWhere) -> String {
        axes.map { axis in
            let (value, scale) = (filter.parameter(.real(axis.value)), filter.parameter(.real(axis.scale)))
            let (from, to) = (sql.exact.column(axis.dimension.from), sql.exact.column(axis.dimension.to))
            let difference = "max(\(from) - \(value), \(value) - \(to), 0.0) * \(scale)"
            return "(\(difference)) * (\(difference))"
        }.joined(separator: " + ")
    }

    /// Adds a condition that excludes rows outside a box. The box contains all rows within `radius`.
    func add(boxOf radius: Double, _ sql: RTreeSQL, to filter: inout SecondaryIndexWhere) {
        for axis in axes {
            guard let bounds = sql.bounds(of: axis.dimension) else { continue }
            let reach = (radius * Self.rounding + Self.smallest) / axis.scale
            let lower = YapDatabaseColumnValue.clamped((axis.value - reach).nextDown)
            let upper = YapDatabaseColumnValue.clamped((axis.value + reach).nextUp)
            filter.add("\(bounds.upper) >= \(filter.parameter(.real(lower)))")
            filter.add("\(bounds.lower) <= \(filter.parameter(.real(upper)))")
        }
    }
}
