// How the program of an agent is built, from source and for the single binary.

/** Modules of Node by require: an import reads each of their exports, and loads what those that nobody uses stand for. */
const leanBuiltins = {
  name: 'lean-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? { path, external: true } : { path, namespace: 'lean-builtins' },
    );
    build.onLoad({ filter: /./, namespace: 'lean-builtins' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};

/**
 * Build options of the edge's program, from source and for the single binary: its text stays in
 * memory permanently.
 */
export const smallProgram = {
  // A tunnel sends no Blob, and the global loads the streams of the web.
  define: { Blob: 'undefined' },
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [leanBuiltins],
};
