import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

import { type Logger, messageOf } from '../../sdk/index.ts';
import type { TlsOptions } from '../exchange/ports.ts';
import { errors } from './errors.ts';

/** Reads the certificate; throws if the files are not a certificate and its key. */
export function readCertificate({
  cert,
  key,
}: Pick<TlsOptions, 'cert' | 'key'>): SecureContextOptions {
  try {
    const read = {
      cert: readFileSync(cert),
      key: readFileSync(key),
      minVersion: 'TLSv1.2',
    } as const;
    createSecureContext(read);
    return read;
  } catch (error) {
    throw errors.certificate(
      { cause: messageOf(error) },
      {
        cause: error,
      },
    );
  }
}

/** Gives the server every certificate that is put in the place of the one before; one that is broken, or not whole yet, changes nothing. */
export function followCertificate(server: Server, files: TlsOptions, log: Logger): () => void {
  const renew = (): void => {
    try {
      server.setSecureContext(readCertificate(files));
      log.info({ event: 'http.certificate_renewed', cert: files.cert }, 'certificate renewed');
    } catch (error) {
      log.warn(
        { event: 'http.certificate_kept', cause: messageOf(error) },
        'new certificate is invalid; keeping the previous one',
      );
    }
  };
  const paths = [files.cert, files.key];
  paths.forEach((path) =>
    watchFile(path, { interval: files.lookEveryMs ?? 30_000, persistent: false }, renew),
  );
  return () => paths.forEach((path) => unwatchFile(path, renew));
}
