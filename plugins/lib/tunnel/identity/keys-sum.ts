import { crc32 } from 'node:zlib';

/** Keys that an edge shows to its manager, and where it does so. */
export interface EdgeKeys {
  readonly tunnel_path: string;
  readonly edge_id: number;
  readonly access_key: string;
  readonly secret_key: string;
}

/**
 * Checksum of the keys in `edge.json`: with a bit that has changed they are keys as well, which the
 * manager refuses without a word about the file. People may edit the rest of the file.
 */
export const keysSum = ({
  tunnel_path: path,
  edge_id: edge,
  access_key: accessKey,
  secret_key: secretKey,
}: EdgeKeys): number => crc32(JSON.stringify([path, edge, accessKey, secretKey]));
