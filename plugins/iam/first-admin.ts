import { isSvcError, type Logger, type Settings } from 'svc/sdk';

import type { DirectoryContract } from './contract.ts';

/** Makes the administrator that the operator named, at a start that finds none. An account that exists is left as it is. */
export async function ensureFirstAdmin(directory: DirectoryContract, settings: Settings, log: Logger): Promise<void> {
  const email = settings.get<string>('auth.admin_email');
  const password = settings.get<string>('auth.admin_password');
  if ((email === '' && password === '') || (await directory.hasAdmin())) {
    return;
  }
  if (email === '' || password === '') {
    const missing = email === '' ? 'SVC_ADMIN_EMAIL' : 'SVC_ADMIN_PASSWORD or SVC_ADMIN_PASSWORD_FILE';
    log.error({}, `no administrator was created: ${missing} is not set, and it takes both`);
    return;
  }
  try {
    const { id } = await directory.create({ email, password, display_name: '', role: 'admin' }, undefined);
    log.info({ user_id: id, email }, 'the first administrator was created');
  } catch (error) {
    if (!isSvcError(error)) {
      throw error;
    }
    log.error({ email }, `no administrator was created: ${error.message}`);
  }
}
