import type { BodyQuota } from 'svc/sdk';

import { errors } from './errors.ts';

/** Max size of all uploads in progress. */
const maxTogether = 64 * 1024 * 1024 + 256 * 1024;

/** The memory that uploads take while they come in. */
export class UploadRoom {
  #taken = 0;

  admit(): BodyQuota {
    let own = 0;
    return {
      reserve: (bytes) => {
        if (this.#taken + bytes > maxTogether) {
          throw errors.too_many_uploads({ retryAfterSeconds: 10 });
        }
        own += bytes;
        this.#taken += bytes;
      },
      release: () => {
        this.#taken -= own;
        own = 0;
      },
    };
  }
}
