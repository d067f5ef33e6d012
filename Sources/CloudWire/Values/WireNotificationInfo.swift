/// What a subscription's notifications show; all of it may be absent.
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
    /// True if the app's badge counts up.
    package var shouldBadge: Bool?
    /// True if the app is woken to fetch, without an alert.
    package var shouldSendContentAvailable: Bool?
    /// True if an extension of the app may change the alert.
    package var shouldSendMutableContent: Bool?
    /// The record keys with values to include in the notification.
    package var additionalFields: [String]?
    /// The name of the alert's actions.
    package var category: String?
    /// What notifications that replace each other have in common.
    package var collapseIDKey: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes one that shows nothing.
    package init() {}
}

extension WireNotificationInfo: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "alertBody": alertBody = try value.string()
            case "alertLocalizationKey": alertLocalizationKey = try value.string()
            case "alertLocalizationArgs": alertLocalizationArgs = try value.strings()
            case "alertActionLocalizationKey": alertActionLocalizationKey = try value.string()
            case "alertLaunchImage": alertLaunchImage = try value.string()
            case "title": title = try value.string()
            case "titleLocalizationKey": titleLocalizationKey = try value.string()
            case "titleLocalizationArgs": titleLocalizationArgs = try value.strings()
            case "subtitle": subtitle = try value.string()
            case "subtitleLocalizationKey": subtitleLocalizationKey = try value.string()
            case "subtitleLocalizationArgs": subtitleLocalizationArgs = try value.strings()
            case "soundName": soundName = try value.string()
            case "shouldBadge": shouldBadge = try value.bool()
            case "shouldSendContentAvailable": shouldSendContentAvailable = try value.bool()
            case "shouldSendMutableContent": shouldSendMutableContent = try value.bool()
            case "additionalFields": additionalFields = try value.strings()
            case "category": category = try value.string()
            case "collapseIDKey": collapseIDKey = try value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("alertBody", alertBody)
            writer.member("alertLocalizationKey", alertLocalizationKey)
            writer.member("alertLocalizationArgs", alertLocalizationArgs)
            writer.member("alertActionLocalizationKey", alertActionLocalizationKey)
            writer.member("alertLaunchImage", alertLaunchImage)
            writer.member("title", title)
            writer.member("titleLocalizationKey", titleLocalizationKey)
            writer.member("titleLocalizationArgs", titleLocalizationArgs)
            writer.member("subtitle", subtitle)
            writer.member("subtitleLocalizationKey", subtitleLocalizationKey)
            writer.member("subtitleLocalizationArgs", subtitleLocalizationArgs)
            writer.member("soundName", soundName)
            writer.member("shouldBadge", shouldBadge)
            writer.member("shouldSendContentAvailable", shouldSendContentAvailable)
            writer.member("shouldSendMutableContent", shouldSendMutableContent)
            writer.member("additionalFields", additionalFields)
            writer.member("category", category)
            writer.member("collapseIDKey", collapseIDKey)
            writer.members(unknown)
        }
    }
}
