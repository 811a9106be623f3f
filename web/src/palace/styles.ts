// The styles of the palace's pages; see styles/index.ts.

import './palace.css';
import './timeline.css';
import './block.css';
import './notes.css';
