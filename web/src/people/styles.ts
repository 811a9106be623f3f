// The styles of the pages about people and plans; see styles/index.ts.

import './people.css';
