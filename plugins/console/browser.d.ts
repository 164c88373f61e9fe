/** What the bundler makes of `import page from 'browser:./web/main.tsx'`: that file and all it imports, for browsers. */
declare module 'browser:*' {
  interface BrowserFile {
    /** Tells its content: another content has another name. */
    readonly name: string;
    readonly bytes: number;
    /** The content packed, in base64. */
    readonly gzip: string;
    readonly brotli: string;
  }

  const assets: {
    readonly entry: string;
    readonly style: string | undefined;
    readonly files: readonly BrowserFile[];
  };
  export default assets;
}
