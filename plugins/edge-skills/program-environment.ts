/** All that a program of this machine is told of ours: to speak plainly, and where its own programs are. */
export const programEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  SYSTEMD_COLORS: '0',
  SYSTEMD_PAGER: 'cat',
};
