/// The contents of a subscription's notifications. All parts are optional.
package struct WireNotificationInfo: Hashable, Sendable {
    /// The alert's text.
    package var alertBody: String?
    /// The key of the alert's text in the app's strings.
    package var alertLocalizationKey: String?
    /// The record keys that fill that text.
    package var alertLocalizationArgs: [String]?
    /// The key of the alert's button in the app's strings.
    package var alertActionLocalizationKey: String?
    /// The picture the app starts with.
    package var alertLaunchImage: String?
    /// The alert's title.
    package var title: String?
    /// The key of the title in the app's strings.
    package var titleLocalizationKey: String?
    /// The record keys that fill the title.
    package var titleLocalizationArgs: [String]?
    /// The alert's second title.
    package var subtitle: String?
    /// The key of the second title in the app's strings.
    package var subtitleLocalizationKey: String?
    /// The record keys that fill the subtitle.
    package var subtitleLocalizationArgs: [String]?
    /// The sound to play.
    package var soundName: String?
    /// True to increment the number on the app's badge.
    package var shouldBadge: Bool?
    /// True to wake the app to fetch, without an alert.
    package var shouldSendContentAvailable: Bool?
    /// True if an extension of the app may change the alert.
    package var shouldSendMutableContent: Bool?
    /// The record keys with values to include in the notification.
    package var additionalFields: [String]?
    /// The name of the alert's actions.
    package var category: String?
    /// Key that notifications share if they replace each other.
    package var collapseIDKey: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an empty value, which shows nothing.
    package init() {}
}

extension WireNotificationInfo: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("alertBody", &alertBody)
        members.optional("alertLocalizationKey", &alertLocalizationKey)
        members.optional("alertLocalizationArgs", &alertLocalizationArgs)
        members.optional("alertActionLocalizationKey", &alertActionLocalizationKey)
        members.optional("alertLaunchImage", &alertLaunchImage)
        members.optional("title", &title)
        members.optional("titleLocalizationKey", &titleLocalizationKey)
        members.optional("titleLocalizationArgs", &titleLocalizationArgs)
        members.optional("subtitle", &subtitle)
        members.optional("subtitleLocalizationKey", &subtitleLocalizationKey)
        members.optional("subtitleLocalizationArgs", &subtitleLocalizationArgs)
        members.optional("soundName", &soundName)
        members.optional("shouldBadge", &shouldBadge)
        members.optional("shouldSendContentAvailable", &shouldSendContentAvailable)
        members.optional("shouldSendMutableContent", &shouldSendMutableContent)
        members.optional("additionalFields", &additionalFields)
        members.optional("category", &category)
        members.optional("collapseIDKey", &collapseIDKey)
    }
}
