// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// Posted when the user's account may have changed.
public let CKAccountChangedNotification = Notification.Name.CKAccountChanged
