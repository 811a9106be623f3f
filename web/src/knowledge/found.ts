// Files as they lie in folders: found in what was dropped, and told apart.

/** A file, and where it lies in what was dropped or picked: "notes/2026/may.md"; of a file by itself, its name. */
export interface Found {
  file: File;
  path: string;
}

/** What of a folder is not sent, by why. */
export interface LeftOut {
  hidden: number; // files and folders whose name begins with a dot, as .git
  unsupported: number; // kinds that cannot be read
  empty: number;
  unreadable: number; // the system did not open them
  beyond: boolean; // there were more than are taken at once
}

export const nothingLeftOut: LeftOut = { hidden: 0, unsupported: 0, empty: 0, unreadable: 0, beyond: false };

/** What was dropped, with all that is below its folders. */
export interface Gathered {
  files: Found[];
  leftOut: LeftOut;
}

const mostFiles = 10_000; // as many as a person may keep
const deepest = 40; // folders in folders: a link may lead back to where it lies

/** A file that was picked; it says where in a picked folder it lies. */
export function found(file: File): Found {
  return { file, path: file.webkitRelativePath || file.name };
}

/** Whether a file lies in a folder, and did not come by itself. */
export function inFolder({ path }: Found): boolean {
  return path.includes('/');
}

/** Whether a file, or a folder around it, is hidden. What somebody dropped or picked itself never is. */
export function hidden({ path }: Found): boolean {
  return path.split('/').slice(1).some(dotted);
}

function dotted(name: string): boolean {
  return name.startsWith('.');
}

/**
 * The files of a drop. To be called while the drop is handled: afterwards the
 * browser no longer says what it was.
 */
export function gather(transfer: Pick<DataTransfer, 'items' | 'files'>): Promise<Gathered> {
  const items = [...transfer.items].filter((item) => item.kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  if (entries.length === 0) entries.push(...transfer.files);
  return gatherAll(entries.filter((one) => one !== null));
}

async function gatherAll(entries: (FileSystemEntry | File)[]): Promise<Gathered> {
  const into: Gathered = { files: [], leftOut: { ...nothingLeftOut } };
  for (const one of entries) {
    if (one instanceof File) into.files.push(found(one));
    else await walk(one, one.name, into, 0);
  }
  return into;
}

async function walk(entry: FileSystemEntry, path: string, into: Gathered, depth: number): Promise<void> {
  if (into.files.length >= mostFiles || depth > deepest) {
    into.leftOut.beyond = true;
    return;
  }
  try {
    if (!entry.isDirectory) {
      into.files.push({ file: await fileOf(entry as FileSystemFileEntry), path });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (let batch = await entriesOf(reader); batch.length > 0; batch = await entriesOf(reader)) {
      for (const one of batch) {
        if (dotted(one.name)) into.leftOut.hidden++;
        else await walk(one, `${path}/${one.name}`, into, depth + 1);
      }
    }
  } catch {
    into.leftOut.unreadable++;
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** The next entries of a folder, of which a browser gives a hundred at a time; none: it was the last. */
function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

/**
 * The names to keep files by: their own, and where several would share one, with
 * the folders they lie in before it: a citation says which README it is from.
 */
export function namesOf(paths: string[]): string[] {
  const own = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const times = new Map<string, number>();
  for (const path of paths) times.set(own(path), (times.get(own(path)) ?? 0) + 1);
  const oneRoot = new Set(paths.map((path) => path.split('/')[0])).size === 1;
  return paths.map((path) => (times.get(own(path))! > 1 ? path.split('/').slice(oneRoot ? 1 : 0).join(' - ') : own(path)));
}
