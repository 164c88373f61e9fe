-- Hosts that a connected store reports, and the device that each of them is.
CREATE TABLE device_reported_hosts (
  source TEXT NOT NULL,
  host TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES device_devices (id) ON DELETE CASCADE,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (source, host)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_reported_hosts_device ON device_reported_hosts (device_id);
CREATE INDEX device_devices_hostname ON device_devices (lower(hostname)) WHERE hostname IS NOT NULL;
