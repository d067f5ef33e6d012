extension YapDatabaseRTreeIndexTransaction {
    /// Returns the rows within a distance of a point on the globe, nearest first, each with its distance in metres.
    ///
    /// ```swift
    /// let home = YapDatabaseGlobePoint(latitude: 49, longitude: 8.4)
    /// let near = try transaction[places].rows(
    ///     withinMetres: 500, of: home, latitude: \.latitude, longitude: \.longitude)
    /// ```
    ///
    /// Distances are exact on a sphere, also near the poles and across the 180th meridian. The objects' longitudes
    /// must be from -180 to 180. All rows in a box around the circle are decoded.
    ///
    /// - Parameters:
    ///   - metres: Maximum distance in metres.
    ///   - center: The point.
    ///   - latitude: The property with the degrees north of the equator.
    ///   - longitude: The property with the degrees east of Greenwich.
    ///   - limit: Maximum number of rows. Default: all.
    ///   - condition: The condition. Default: all rows of the index.
    /// - Throws: Also `invalidExtension` for a point that isn't on the globe, and for a distance that is negative or
    ///   not finite.
    public func rows(
        withinMetres metres: Double, of center: YapDatabaseGlobePoint,
        latitude: any KeyPath<Object, Double> & Sendable, longitude: any KeyPath<Object, Double> & Sendable,
        limit: Int? = nil, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(key: String, object: Object, metres: Double)] {
        guard center.isValid, metres >= 0, metres.isFinite else {
            throw mistake("\(metres) metres around \(center.latitude), \(center.longitude) are no region")
        }
        let boxes = center.boxes(within: metres).map { box in
            YapDatabaseIndexColumn(path: latitude).isInside(box.latitude)
                && YapDatabaseIndexColumn(path: longitude).isInside(box.longitude)
        }
        let rows = try rows(where: { properties in
            let region = boxes.dropFirst().reduce(boxes[0]) { $0 || $1 }
            return condition.map { region && $0(properties) } ?? region
        })
        let near = rows.map { row in
            let point = YapDatabaseGlobePoint(
                latitude: row.object[keyPath: latitude], longitude: row.object[keyPath: longitude])
            return (key: row.key, object: row.object, metres: center.metres(to: point))
        }
        .filter { $0.metres <= metres }
        .sorted { ($0.metres, $0.key) < ($1.metres, $1.key) }
        return limit.map { Array(near.prefix(max(0, $0))) } ?? near
    }
}
