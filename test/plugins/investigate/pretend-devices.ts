/** Creates hosts as the device plugin would know them, with its service. */
export function pretendDevices(count: number) {
  const devices = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    display_name: `host-${at + 1}`,
    hostname: `host-${at + 1}`,
    ip_address: null,
    tags: {},
    roles: [],
  }));
  const directory = {
    get: async (id: number) => devices.find((one) => one.id === id),
    many: async (ids: readonly number[]) => devices.filter(({ id }) => ids.includes(id)),
    page: async (after: number, limit: number) =>
      devices.filter(({ id }) => id > after).slice(0, limit),
  };
  return { devices, directory };
}
