"""`import torch` in a process that a test starts: this directory comes first on its path."""

import adapter

adapter.install()  # sets sys.modules["torch"], which is what the import statement returns
