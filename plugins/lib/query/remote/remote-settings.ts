import type { Settings } from 'svc/sdk';

/** Connection to the server that stores the data instead of this process. */
export interface RemoteSettings {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly tenant: string;
  readonly ca: string;
  readonly insecure: boolean;
}

/** Returns which driver stores the data of a plugin, by its settings. */
export function driverOf(settings: Settings, plugin: string): 'embedded' | 'remote' {
  const driver = settings.get<'auto' | 'embedded' | 'remote'>(`${plugin}.driver`);
  return driver !== 'auto'
    ? driver
    : settings.get<string>(`${plugin}.remote_url`) === ''
      ? 'embedded'
      : 'remote';
}

export const remoteSettings = (settings: Settings, plugin: string): RemoteSettings => ({
  url: addressOf(settings, `${plugin}.remote_url`),
  user: settings.get<string>(`${plugin}.remote_user`),
  password: settings.get<string>(`${plugin}.remote_password`),
  tenant: settings.get<string>(`${plugin}.remote_tenant`),
  ca: settings.get<string>(`${plugin}.remote_ca`),
  insecure: settings.get<boolean>(`${plugin}.remote_insecure`),
});

/** Returns the address without trailing slashes, so that paths can be appended. */
export const addressOf = (settings: Settings, key: string): string =>
  settings.get<string>(key).replace(/\/+$/, '');
