public import YapCloudKit

extension Todo: CloudModel {
    /// The type of its record in the cloud.
    public static let recordType = "todo"
    /// Each field is merged on its own: two devices that change different ones both keep their change.
    ///
    /// `isPinned` is none: it stays on the device.
    public static let fields = CloudFields<Todo> {
        $0.field(\.title)
        $0.field(\.isDone, as: "completed")
        $0.field(\.priority)
        // A record has a creation date of its own, which is the day of its first upload.
        $0.field(\.creationDay, as: "created")
        $0.field(\.completionDay)
        $0.field(\.order)
        // A record can't hold a colour: in the cloud it is text.
        $0.field(\.color, toCloud: { $0?.text }, fromCloud: TodoColor.fromCloud)
    }
}
